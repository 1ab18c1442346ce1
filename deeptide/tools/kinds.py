"""What a binary file is, told by its first bytes, so that a refusal to read it says something useful.

Invariant: the words depend on the bytes alone, never on the file's name.
"""

from __future__ import annotations

import struct

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"BM", "a BMP image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or an Office, jar or wheel file)"),
    (b"\x1f\x8b", "gzip-compressed data"),
    (b"BZh", "bzip2-compressed data"),
    (b"\xfd7zXZ\0", "xz-compressed data"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"\x7fELF", "an ELF program or library"),
    (b"MZ", "a Windows program or library"),
    (b"\xcf\xfa\xed\xfe", "a macOS program or library"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\0asm", "a WebAssembly module"),
    (b"OggS", "Ogg audio or video"),
    (b"ID3", "MP3 audio"),
    (b"fLaC", "FLAC audio"),
)


def describe(data: bytes) -> str:
    """`a PNG image of 640x480 pixels`, `an SQLite database`, or `binary data`."""
    if data.startswith(b"RIFF"):
        inner = {b"WEBP": "a WebP image", b"WAVE": "WAV audio", b"AVI ": "an AVI video"}
        return inner.get(data[8:12], "binary data")
    if data[4:8] == b"ftyp":
        return "an MP4 or HEIF file"
    name = next((name for magic, name in _MAGIC if data.startswith(magic)), "binary data")
    return name + _pixels(name, data)


def _pixels(name: str, data: bytes) -> str:
    try:
        if name == "a PNG image":
            width, height = struct.unpack(">II", data[16:24])
        elif name == "a GIF image":
            width, height = struct.unpack("<HH", data[6:10])
        else:
            return ""
    except struct.error:
        return ""
    return f" of {width}x{height} pixels"
