"""Reads Parquet files with pyarrow and prints each row as a JSON object, times as milliseconds."""

import datetime
import json
import sys

import pyarrow.parquet

for name in sys.argv[1:]:
    table = pyarrow.parquet.ParquetFile(name)
    for batch in table.iter_batches():
        for row in batch.to_pylist():
            for key, value in row.items():
                if isinstance(value, datetime.datetime):
                    row[key] = value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            print(json.dumps(row))
