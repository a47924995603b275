"""Cases of regions: windows as basic indices pick them."""
