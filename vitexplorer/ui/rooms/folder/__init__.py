"""The room Folder: a survey is begun, watched, and read from; what of it is a picture opens in every room."""
