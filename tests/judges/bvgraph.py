"""Reads a graph in the format of Boldi and Vigna, after the description in their paper and nothing else.

Takes a basename, reads the properties and the bit stream from the first list to the last, and prints one arc a line.
Knows the default codes: gamma for degrees, blocks and intervals, unary for references, zeta of k for residuals.
"""
import sys


class Bits:
    def __init__(self, data):
        self.data, self.at = data, 0

    def bit(self):
        byte = self.data[self.at >> 3]
        bit = byte >> (7 - (self.at & 7)) & 1
        self.at += 1
        return bit

    def number(self, width):
        value = 0
        for _ in range(width):
            value = value << 1 | self.bit()
        return value

    def unary(self):
        zeros = 0
        while self.bit() == 0:
            zeros += 1
        return zeros

    def gamma(self):
        width = self.unary()
        return (1 << width | self.number(width)) - 1

    def zeta(self, k):
        h = self.unary()
        low, span = 1 << h * k, (1 << (h + 1) * k) - (1 << h * k)
        # A minimal binary code of the offset within [2^hk, 2^(h+1)k).
        width = (span - 1).bit_length()
        short = (1 << width) - span
        value = self.number(width - 1) if width else 0
        if value >= short:
            value = (value << 1 | self.bit()) - short
        return low + value - 1


def signed(n):
    return n >> 1 if n & 1 == 0 else -(n + 1 >> 1)


def lists(bits, nodes, window, shortest, k):
    """The successors of each node in turn; the last `window` lists are kept to be copied from."""
    kept = {}
    for node in range(nodes):
        degree, here = bits.gamma(), []
        if degree:
            reference = bits.unary() if window else 0
            if reference:
                before = kept[node - reference]
                blocks = [bits.gamma() + (i > 0) for i in range(bits.gamma())]
                place, copying = 0, True
                for block in blocks:
                    if copying:
                        here += before[place:place + block]
                    place, copying = place + block, not copying
                if copying:
                    here += before[place:]
            left = degree - len(here)
            if left and shortest:
                end = None
                for _ in range(bits.gamma()):
                    start = bits.gamma()
                    start = node + signed(start) if end is None else end + 1 + start
                    length = bits.gamma() + shortest
                    here += range(start, start + length)
                    end, left = start + length, left - length
            last = None
            for _ in range(left):
                step = bits.zeta(k)
                last = node + signed(step) if last is None else last + step + 1
                here.append(last)
        here.sort()
        assert len(here) == degree, (node, here, degree)
        kept[node] = here
        kept.pop(node - window, None)
        yield node, here


def main(base):
    with open(base + ".properties", encoding="latin-1") as file:
        said = dict(line.strip().split("=", 1) for line in file if "=" in line)
    assert said["graphclass"].endswith("BVGraph") and said["version"] == "0" and not said["compressionflags"], said
    with open(base + ".graph", "rb") as file:
        bits = Bits(file.read())
    arcs = 0
    size = int(said["nodes"]), int(said["windowsize"]), int(said["minintervallength"]), int(said["zetak"])
    for node, here in lists(bits, *size):
        for to in here:
            print(node, to)
        arcs += len(here)
    assert arcs == int(said["arcs"]) and bits.at == int(said["length"]), (arcs, bits.at, said)


main(sys.argv[1])
