"""The same questions asked of every image of a folder: a row for each image, in Parquet files that anything can read.

`question.py` says what a question is, `questions/` holds those there are, `schema.py` which of them a model answers and
in which columns.
"""
