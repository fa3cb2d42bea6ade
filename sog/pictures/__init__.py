"""Pictures as SVG, written by functions of plain numbers and words. Read svg, boards, hands, charts, icicle."""
