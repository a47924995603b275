"""Operations on whole arrays: reductions, scans, shapes, sorts, products, transforms."""
