"""Decides which bytes are images that a page may show."""

import io

from PIL import Image

# Types that contain only pixels; an SVG, by contrast, is a document that may load other things.
PIXELS = ("PNG", "JPEG", "GIF", "WEBP")
MAX_PIXELS = 40_000_000


def is_image(data: bytes) -> bool:
    """Return whether it is an image of a safe type that does not decompress to an extreme size."""
    try:
        with Image.open(io.BytesIO(data), formats=PIXELS) as image:
            return 0 < image.width * image.height <= MAX_PIXELS
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return False
