"""The forms of loop nests."""
