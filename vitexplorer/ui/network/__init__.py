"""Picture of the whole network: one pass with a followed token, for every room that shows one."""
