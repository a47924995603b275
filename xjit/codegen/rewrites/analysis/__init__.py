"""What legality checks ask of loops: which elements may meet, which scalars change, how far indices go."""
