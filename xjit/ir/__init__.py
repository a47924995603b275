"""The intermediate forms as frozen data: nodes and graphs, scalar expressions, index maps, loop nests."""
