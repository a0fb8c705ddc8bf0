"""Which bytes are images that a page may show."""

import io

from PIL import Image

# Kinds that hold pixels and nothing else; SVG, for one, is a page that may call out.
PIXELS = ("PNG", "JPEG", "GIF", "WEBP")
MAX_PIXELS = 40_000_000


def is_image(data: bytes) -> bool:
    """Return whether it is an image of a harmless kind, and not one that unfolds to any size."""
    try:
        with Image.open(io.BytesIO(data), formats=PIXELS) as image:
            return 0 < image.width * image.height <= MAX_PIXELS
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return False
