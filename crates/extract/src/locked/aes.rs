//! Decryption with AES (FIPS 197) under a key of 128 bits, block by block.

/// Rounds of a key of 128 bits.
const ROUNDS: usize = 10;

/// A key, made ready.
pub(super) struct AesKey {
    rounds: [[u8; 16]; ROUNDS + 1],
    /// Which byte a byte stands for.
    unboxed: [u8; 256],
}

impl AesKey {
    pub(super) fn new(key: &[u8; 16]) -> Self {
        let boxed = boxes();
        let mut unboxed = [0; 256];
        for (byte, boxed) in (0u8..=255).zip(boxed) {
            unboxed[usize::from(boxed)] = byte;
        }
        let mut rounds = [[0; 16]; ROUNDS + 1];
        rounds[0] = *key;
        let mut constant = 1u8;
        for round in 1..=ROUNDS {
            let before = rounds[round - 1];
            let mut word = [before[13], before[14], before[15], before[12]].map(|b| boxed[usize::from(b)]);
            word[0] ^= constant;
            constant = double(constant);
            for place in 0..16 {
                word[place % 4] ^= before[place];
                rounds[round][place] = word[place % 4];
            }
        }
        Self { rounds, unboxed }
    }

    /// Decrypts a block.
    pub(super) fn decrypt(&self, block: &mut [u8; 16]) {
        xor(block, &self.rounds[ROUNDS]);
        for round in (0..ROUNDS).rev() {
            // Rows were rotated to the left by their number.
            let shifted = *block;
            for (place, byte) in shifted.into_iter().enumerate() {
                block[(place + 4 * (place % 4)) % 16] = self.unboxed[usize::from(byte)];
            }
            xor(block, &self.rounds[round]);
            if round > 0 {
                block.chunks_exact_mut(4).for_each(unmix);
            }
        }
    }
}

fn xor(block: &mut [u8; 16], key: &[u8; 16]) {
    block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
}

/// Undoes the mixing of a column.
fn unmix(column: &mut [u8]) {
    let &mut [a, b, c, d] = column else { return };
    let mixed = |a, b, c, d| times(a, 14) ^ times(b, 11) ^ times(c, 13) ^ times(d, 9);
    column.copy_from_slice(&[mixed(a, b, c, d), mixed(b, c, d, a), mixed(c, d, a, b), mixed(d, a, b, c)]);
}

/// Twice a byte in the field of the standard.
fn double(byte: u8) -> u8 {
    byte << 1 ^ if byte & 0x80 != 0 { 0x1B } else { 0 }
}

/// The product of two bytes in that field.
fn times(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b > 0 {
        product ^= if b & 1 != 0 { a } else { 0 };
        (a, b) = (double(a), b >> 1);
    }
    product
}

/// What stands for each byte: its inverse in the field, each bit mixed with four others.
fn boxes() -> [u8; 256] {
    let mut boxes = [0x63; 256];
    // 3 generates the field: a walks through all bytes but 0, and b through their inverses.
    let (mut a, mut b) = (1u8, 1u8);
    loop {
        boxes[usize::from(a)] = b ^ b.rotate_left(1) ^ b.rotate_left(2) ^ b.rotate_left(3) ^ b.rotate_left(4) ^ 0x63;
        a = times(a, 3);
        b = times(b, 0xF6);
        if a == 1 {
            return boxes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl AesKey {
        /// Encrypts a block, for tests of what decrypts it.
        pub(in crate::locked) fn encrypt(&self, block: &mut [u8; 16]) {
            let boxed = boxes();
            xor(block, &self.rounds[0]);
            for round in 1..=ROUNDS {
                let shifted = *block;
                for (place, byte) in block.iter_mut().enumerate() {
                    *byte = boxed[usize::from(shifted[(place + 4 * (place % 4)) % 16])];
                }
                if round < ROUNDS {
                    // Mixing three times more undoes it.
                    block.chunks_exact_mut(4).for_each(|column| (0..3).for_each(|_| unmix(column)));
                }
                xor(block, &self.rounds[round]);
            }
        }
    }

    #[test]
    fn the_example_of_the_standard_is_right() {
        let key: [u8; 16] = std::array::from_fn(|i| u8::try_from(i).expect("small"));
        let plain: [u8; 16] = std::array::from_fn(|i| u8::try_from(i * 0x11).expect("small"));
        let told = [0x69, 0xC4, 0xE0, 0xD8, 0x6A, 0x7B, 0x04, 0x30, 0xD8, 0xCD, 0xB7, 0x80, 0x70, 0xB4, 0xC5, 0x5A];
        let key = AesKey::new(&key);
        let mut block = told;
        key.decrypt(&mut block);
        assert_eq!(block, plain);
        key.encrypt(&mut block);
        assert_eq!(block, told);
    }
}
