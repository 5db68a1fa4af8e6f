"""Write the golden pages anew."""

import shutil

from . import SITE, rendered

shutil.rmtree(SITE, ignore_errors=True)
pages = rendered()
for path, text in pages.items():
    target = SITE / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode())
print(f"{len(pages)} pages: {SITE}")
