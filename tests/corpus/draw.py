# SPDX-License-Identifier: MIT
"""Pictures of what was measured on the labelled corpus, for docs/numerics.md.

    draw.py [--take soft|h200 VERDICT.json DEVICE] [--check]

--take keeps of a verdict of the whole corpus (score-corpus --verdict) what the pictures show, in
docs/figures/soft.csv or h200.csv, with DEVICE in its first line. Then the pictures docs/figures/*.svg
are drawn from these files; --check only compares them with what would be drawn. Only Python's own
library is used.
"""
import argparse
import csv
import io
import json
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from table import FAMILIES, PAIRS  # noqa: E402

FOLDER = os.path.normpath(os.path.join(HERE, "..", "..", "docs", "figures"))
RULES = ["residual", "frequency", "bias", "distribution", "place"]
FIELDS = ["name", "kind", "half", "bucket", "rule", *(f"{r}{x}" for r in RULES for x in ("", "_limit"))]


def recorded(family):
    """Rule → figure and limit, of the outputs of which the noise is known."""
    for config in family["configs"]:
        for case in config["cases"]:
            yield from (o["recorded"] for o in case["outputs"] if o.get("recorded"))


def from_chain(family):
    """The same from the worst pair's chain: what a report without that field tells."""
    steps = {s["name"]: [s["figure"], s["limit"]] for s in family["worst"]["chain"]}
    outputs = [o for c in family["configs"] for x in c["cases"] for o in x["outputs"]]
    found = {r: steps[r] if steps[r][0] is not None else [] for r in RULES}
    residuals = [finite(o["residual"]) for o in outputs if o["residual"] != 0]
    shifts = [o["distribution"]["kolmogorov"] for o in outputs if o["distribution"]]
    if residuals and found["residual"]:
        found["residual"] = [max(residuals), found["residual"][1]]
    if shifts:
        found["distribution"] = [max(shifts), 0.05]
    return found


def greatest(found, rule):
    """Figure and limit of the output that comes closest to its limit, or goes furthest beyond."""
    pairs = [[finite(x) for x in f[rule]] for f in found if len(f[rule]) == 2]
    return max(pairs, key=lambda p: p[0] / p[1] if p[1] else 0, default=["", ""])


def finite(x):
    return 1e9 if isinstance(x, str) or not math.isfinite(x) else x


def take(measured, verdict, device):
    with open(verdict, encoding="utf-8") as f:
        families = json.load(f)["families"]
    rows = []
    for family in sorted(families, key=lambda x: x["name"]):
        pair, found = PAIRS[family["name"]], list(recorded(family))
        if not found and family["worst"] and "residual" in str(family["configs"])[:100000]:
            found = [from_chain(family)]
        row = {"name": pair["name"], "kind": pair["kind"], "half": FAMILIES[pair["family"]]["half"],
               "bucket": family["bucket"], "rule": family["rule"]["number"]}
        for rule in RULES:
            figure, limit = greatest(found, rule)
            row.update({rule: shown(figure), f"{rule}_limit": shown(limit)})
        rows.append(row)
    with open(os.path.join(FOLDER, measured + ".csv"), "w", encoding="utf-8", newline="") as f:
        f.write(f"# {device}\n")
        writer = csv.DictWriter(f, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def shown(x):
    return x if isinstance(x, str) else f"{x:.4g}"


def read(measured):
    with open(os.path.join(FOLDER, measured + ".csv"), encoding="utf-8", newline="") as f:
        device = f.readline()[2:].strip()
        return device, list(csv.DictReader(f))


# ---- drawing ----

STYLE = """<style>
text { font: 12px sans-serif; fill: #333 } .small { font-size: 11px }
.axis { stroke: #999; stroke-width: 1 } .grid { stroke: #ddd; stroke-width: 1 }
.limit { stroke: #222; stroke-width: 1.5; stroke-dasharray: 5 3 }
.benign { fill: #2b6cb0 } .bug { fill: #d9480f } circle { fill-opacity: .65 }
</style>"""


class Picture:
    def __init__(self, width, height, title):
        self.width, self.height = width, height
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                      f'width="{width}" height="{height}" role="img">\n<title>{title}</title>\n{STYLE}\n'
                      f'<rect width="{width}" height="{height}" fill="#fff"/>\n']

    def text(self, x, y, text, anchor="start", cls=""):
        self.parts.append(f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"'
                          f'{f" class={chr(34)}{cls}{chr(34)}" if cls else ""}>{text}</text>\n')

    def line(self, x1, y1, x2, y2, cls):
        self.parts.append(f'<path class="{cls}" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>\n')

    def dot(self, x, y, cls, name):
        self.parts.append(f'<circle class="{cls}" cx="{x:.1f}" cy="{y:.1f}" r="3.5">'
                          f"<title>{name}</title></circle>\n")

    def legend(self, x, y, rows):
        for i, kind in enumerate(("benign", "bug")):
            self.dot(x + 90 * i, y - 4, kind, kind)
            n = sum(r["kind"] == kind for r in rows)
            self.text(x + 90 * i + 8, y, f"{kind} ({n})")

    def done(self):
        return "".join(self.parts) + "</svg>\n"


class Log:
    """A logarithmic axis; what lies outside sticks to its ends."""

    def __init__(self, low, high, start, end):
        self.low, self.high, self.start, self.end = math.log10(low), math.log10(high), start, end

    def __call__(self, value):
        t = math.log10(value) if value > 0 else self.low
        t = min(max(t, self.low), self.high)
        return self.start + (t - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, step=1):
        return [10.0 ** k for k in range(math.ceil(self.low), math.floor(self.high) + 1, step)]


def power(x):
    k = round(math.log10(x))
    return {0: "1", 1: "10", 2: "100", -1: "0.1", -2: "0.01"}.get(
        k, f'10<tspan dy="-4" font-size="9">{k}</tspan>')


def values(rows, rule):
    return [(r, float(r[rule]), float(r[f"{rule}_limit"])) for r in rows
            if r[rule] and float(r[f"{rule}_limit"] or 0) > 0]


def draw_rules(rows, device):
    """Every pair's greatest figure in its limit, a strip a rule."""
    names = {"residual": "5 residual", "frequency": "6 frequency", "bias": "7 bias",
             "distribution": "7d distribution", "place": "8 place"}
    p = Picture(760, 90 + 92 * len(RULES), "Figures of rules 5 to 8 in their limits, by pair")
    x = Log(1e-3, 1e4, 130, 740)
    p.text(10, 20, f"Greatest figure of each pair, in its limit ({device}; recorded inputs)")
    p.legend(560, 20, rows)
    bottom = 40 + 92 * len(RULES)
    for tick in x.ticks():
        p.line(x(tick), 34, x(tick), bottom, "grid")
        p.text(x(tick), bottom + 16, power(tick), "middle", "small")
    p.line(x(1), 34, x(1), bottom, "limit")
    p.text(435, bottom + 36, "figure / limit; at the ends: less or more", "middle", "small")
    for i, rule in enumerate(RULES):
        top = 44 + 92 * i
        p.text(10, top + 36, names[rule])
        for kind, offset in (("benign", 12), ("bug", 52)):
            part = sorted((v / l, r["name"]) for r, v, l in values(rows, rule) if r["kind"] == kind)
            for k, (ratio, name) in enumerate(part):
                p.dot(x(ratio), top + offset + k * 7 % 29, kind, f"{name}: {ratio:.3g}")
    return p.done()


def draw_residuals(rows, device):
    """Histogram of residuals over benign pairs and bugs."""
    p = Picture(760, 330, "Greatest residual by pair")
    x = Log(1e-2, 1e8, 50, 740)
    width = (x.end - x.start) / 40
    p.text(10, 20, f"Greatest residual of each pair, in sigma ({device}; recorded inputs)")
    p.legend(560, 20, rows)
    bars = {kind: [0] * 40 for kind in ("benign", "bug")}
    for r, value, _ in values(rows, "residual"):
        bars[r["kind"]][min(39, int((x(value) - x.start) / width))] += 1
    most = max(max(b) for b in bars.values())
    for kind, base, sign in (("benign", 155, -1), ("bug", 155, 1)):
        for i, n in enumerate(bars[kind]):
            height = n / most * 110
            y = base - height if sign < 0 else base
            if n:
                p.parts.append(f'<rect class="{kind}" x="{x.start + i * width + 1:.1f}" y="{y:.1f}" '
                               f'width="{width - 2:.1f}" height="{height:.1f}"><title>{n} {kind}'
                               "</title></rect>\n")
    p.line(50, 155, 740, 155, "axis")
    for tick in x.ticks():
        p.line(x(tick), 151, x(tick), 159, "axis")
        p.text(x(tick), 300, power(tick), "middle", "small")
    for limit, text in ((32, "32"), (2, "2, where u is coarse")):
        p.line(x(limit), 36, x(limit), 280, "limit")
        p.text(x(limit) + 4, 46 if limit == 32 else 276, text, "start", "small")
    p.text(44, 60, str(most), "end", "small")
    p.text(395, 322, "residual; the last column holds everything beyond", "middle", "small")
    return p.done()


def draw_flips(rows, device):
    """Share of flips against its limit, which is what rounding predicts times a margin."""
    p = Picture(760, 460, "Share of other numbers against its limit")
    x, y = Log(1e-3, 1, 70, 740), Log(1e-5, 1, 400, 40)
    p.text(10, 20, f"16- and 8-bit outputs: share of other numbers ({device}; recorded inputs)")
    p.legend(560, 20, rows)
    for tick in x.ticks():
        p.line(x(tick), 40, x(tick), 400, "grid")
        p.text(x(tick), 416, power(tick), "middle", "small")
    for tick in y.ticks():
        p.line(70, y(tick), 740, y(tick), "grid")
        p.text(64, y(tick) + 4, power(tick), "end", "small")
    p.line(x(1e-3), y(1e-3), x(1), y(1), "limit")
    p.text(x(0.0011), y(0.012), "fires above the line", "start", "small")
    for r, value, limit in values(rows, "frequency"):
        p.dot(x(limit), y(value), r["kind"], f'{r["name"]}: {value:.3g}, limit {limit:.3g}')
    p.text(405, 440, "limit: max(0.005, 20 f_pred, what A's configs give); 0.5 where u is coarse",
           "middle", "small")
    p.text(10, 34, "lower 99.9 % bound of the share", "start", "small")
    return p.done()


PICTURES = {"rules.svg": ("soft", draw_rules), "residuals.svg": ("soft", draw_residuals),
            "residuals-h200.svg": ("h200", draw_residuals), "flips.svg": ("soft", draw_flips)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--take", nargs=3, metavar=("soft|h200", "VERDICT.json", "DEVICE"))
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if args.take:
        take(*args.take)
    stale = []
    for name, (measured, draw) in PICTURES.items():
        device, rows = read(measured)
        path = os.path.join(FOLDER, name)
        text = draw(rows, device)
        if args.check:
            with io.open(path, encoding="utf-8", newline="") as f:
                stale += [name] if f.read() != text else []
        else:
            with open(path, "w", encoding="utf-8", newline="") as f:
                f.write(text)
        unknown = [r["name"] for r in rows if r["name"] not in PAIRS]
        if unknown:
            stale.append(f"{measured}.csv holds pairs that table.py does not: {unknown}")
    sys.exit(f"docs/figures: out of date: {stale}; run scripts/draw-corpus" if stale else 0)


if __name__ == "__main__":
    main()
