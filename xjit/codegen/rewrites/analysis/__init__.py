"""Questions of legality checks: which elements may meet, which scalars change, how far indices go."""
