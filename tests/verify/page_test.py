#!/usr/bin/env python3
"""The picture and the page of `ropewalk verify`, looked at in a browser.

usage: page_test.py ROPEWALK DATA_FOLDER
"""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))

from cli_test import check, faults, read, write


def wrong_result(folder, source):
    """x for y: nothing was rotated."""
    tensors = read(source)[0]
    path = os.path.join(folder, "a < b & c.safetensors")
    write(path, {"y": tensors["x"]})
    return path


def pixels(path):
    """Rows of (red, green, blue) of an 8-bit PNG without interlace."""
    with open(path, "rb") as file:
        data = file.read()
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            packed += body
        at += size + 12
    depth = {2: 3, 6: 4}[colour]
    raw, stride = zlib.decompress(packed), width * depth
    above, rows = bytearray(stride), []
    for y in range(height):
        start = y * (stride + 1)
        how, line = raw[start], bytearray(raw[start + 1:start + 1 + stride])
        for i in range(stride):
            left = line[i - depth] if i >= depth else 0
            corner = above[i - depth] if i >= depth else 0
            if how == 1:
                line[i] = line[i] + left & 255
            elif how == 2:
                line[i] = line[i] + above[i] & 255
            elif how == 3:
                line[i] = line[i] + (left + above[i]) // 2 & 255
            elif how == 4:
                guess = left + above[i] - corner
                near = min((left, above[i], corner),
                           key=lambda v, g=guess: abs(v - g))
                line[i] = line[i] + near & 255
        rows.append([tuple(line[i:i + 3]) for i in range(0, stride, depth)])
        above = line
    return rows


def picture(path):
    root = ElementTree.parse(path).getroot()
    words = " ".join(root.itertext())
    check(root.tag.endswith("svg") and "position" in words and
          "not-rotated" in words and "largest error by head" in words,
          "the picture's words")
    check(len([e for e in root.iter() if e.tag.endswith("path")]) >= 2,
          "the picture's colours")


def page(browser, folder, path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    # XML's name of SVG is no link.
    links = re.findall(r"(?:https?:|src=|href=|url\()[^\s\"'>]*",
                       text.replace("http://www.w3.org/2000/svg", ""))
    check(not links, "the page needs nothing beside it: %s" % links)
    check("a &lt; b &amp; c" in text, "names are escaped")
    shot = os.path.join(folder, "page.png")
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu",
               "--hide-scrollbars", "--window-size=1200,1000",
               "--user-data-dir=" + os.path.join(folder, "profile")]
    done = subprocess.run([*command, "--dump-dom", "file://" + path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=120)
    check(done.returncode == 0 and "not-rotated" in done.stdout and
          "<svg" in done.stdout and "explains" in done.stdout,
          "the page as the browser has it: %s" % done.stderr[-300:])
    subprocess.run([*command, "--screenshot=" + shot, "file://" + path],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   timeout=120, check=True)
    rows = pixels(shot)
    colours = {}
    for row in rows:
        for colour in row:
            colours[colour] = colours.get(colour, 0) + 1
    dark_red, verdict = (0x6b, 0x10, 0x20), (0xb3, 0x2b, 0x2b)
    check(colours.get(dark_red, 0) > 5000, "the map is drawn")
    check(colours.get(verdict, 0) > 500, "the verdict is shown")
    # Nothing is wider than the window: its edge is the page's ground.
    edge = {row[-1] for row in rows}
    check(edge == {(0xee, 0xf1, 0xf4)}, "the page is too wide: %s" % edge)


def main():
    program, data = sys.argv[1:]
    source = os.path.join(data, "smollm2_key.safetensors")
    with tempfile.TemporaryDirectory() as folder:
        plot, html = (os.path.join(folder, name)
                      for name in ("errors.svg", "report.html"))
        done = subprocess.run(
            [program, "verify", "rotate", "--pairing", "half", "-i", source,
             "--result", wrong_result(folder, source), "--plot", plot,
             "--html", html], stdout=subprocess.PIPE, timeout=120)
        check(done.returncode == 1, "exit code %d" % done.returncode)
        picture(plot)
        done = subprocess.run(
            [program, "verify", "rotate", "--pairing", "half", "-i", source,
             "--result", source, "--plot", plot + ".png"],
            stderr=subprocess.PIPE, timeout=120)
        check(done.returncode == 2 and b".svg" in done.stderr, "a plot as PNG")
        browser = shutil.which("chromium") or shutil.which("chromium-browser")
        if browser is None and not faults:
            print("there is no chromium: the page was not looked at")
            return 77  # ctest counts this as skipped
        if browser is not None:
            page(browser, folder, html)
    print("%d faults" % len(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
