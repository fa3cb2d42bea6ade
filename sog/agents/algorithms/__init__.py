"""The learning algorithms, one file each; `table` lists them."""
