// The drawing of a channel: the head on top, and below it what it replaces.

// drawn returns the edges to draw. A skip of the replaced entry is not drawn twice.
// Where there are more skips than versions, those of a version that has a line
// already are left to the table.
const drawn = (ch) => {
  const row = new Map(ch.rows.map((node, i) => [node, i]));
  const is = (e, kind) => EDGES[e[2]] === kind;
  const joined = new Set(ch.edges.filter((e) => is(e, "replaces")).map((e) => e[0] + " " + e[1]));
  const skips = ch.edges.filter((e) => is(e, "skips") && !joined.has(e[0] + " " + e[1]));
  const rest = ch.edges.filter((e) => !is(e, "skips"));
  if (skips.length <= ch.rows.length) return { edges: [...rest, ...skips], left: 0 };
  const has = new Set(rest.map((e) => e[0])), nearest = new Map();
  for (const e of skips) {
    if (has.has(e[0])) continue;
    const best = nearest.get(e[0]);
    if (!best || row.get(e[1]) > row.get(best[1]) && row.get(e[1]) < row.get(e[0])) nearest.set(e[0], e);
  }
  return { edges: [...rest, ...nearest.values()], left: skips.length - nearest.size };
};

// Only the newest versions of a longer channel are drawn: nobody reads more, and
// placing them takes time.
const MOST = 400;
const newest = (ch) => {
  if (ch.rows.length <= MOST) return ch;
  const rows = ch.rows.slice(0, MOST), shown = new Set(rows);
  return { ...ch, rows, edges: ch.edges.filter((e) => shown.has(e[0]) && shown.has(e[1])) };
};

const channelDrawing = (p, channel, onpick, onclear) => {
  const ch = newest(channel);
  const at = new Map(ch.rows.map((node, i) => [node, i])); // box of a node
  const boxes = ch.rows.map((node) => {
    const n = p.nodes[node], words = marksOf(p, ch, node);
    const label = cut(n.label, 30), note = words.join(" · ");
    const first = widthOf(label, MONO) + 1, second = note ? widthOf(note, SANS) + 9 : 0;
    return {
      node, kind: words.map((w) => w.replaceAll(" ", "-")).join(" "),
      width: Math.max(56, first + second + 20), height: 24,
      name: [n.name, n.version && !n.name.endsWith(n.version) ? "version " + n.version : "", ...words].filter(Boolean).join(", "),
      draw: (g) => put(g, [
        svg("text", { class: "label", x: 10, y: 16 }, label),
        note ? svg("text", { class: "marks", x: 10 + first + 9, y: 16 }, note) : null,
      ]),
    };
  });
  const weights = { 1: 4, 2: 1, 3: 2 };
  const kept = drawn(ch);
  const lines = kept.edges.map(([from, to, kind]) => ({ from: at.get(from), to: at.get(to), kind: EDGES[kind] + " " + ((verdictOf(p, from, to) || {}).verdict || ""), weight: weights[kind] }));
  const placed = place(boxes, lines, "BT", { side: 18, rank: 22 });
  const home = ch.heads.length ? at.get(ch.heads[0]) : 0;
  const d = draw(boxes, lines, placed, {
    label: `Upgrade graph of channel ${ch.name} of package ${p.name}`,
    hint: (ch !== channel ? `The newest ${MOST} of ${channel.rows.length.toLocaleString("en")} versions are drawn: the table has all. ` : "") + (kept.left ? `${plural(kept.left, "skip")} not drawn, to keep this legible: the table has all. ` : "") + "Drag or scroll to move, Ctrl and scroll to zoom; on a touch screen, two fingers do both. Keys: arrows move between versions, Enter picks the installed one, Escape clears, + − 0 zoom.",
    home, onpick: (i) => onpick(ch.rows[i]), onclear,
  });
  return {
    element: d.element, height: d.height,
    begin: (node) => { d.begin(); if (at.has(node)) { d.rove(at.get(node), false); d.reveal(at.get(node)); } },
    // show marks a version and its ways.
    show: (node, ways) => {
      d.pick(node === null ? -1 : at.has(node) ? at.get(node) : -1);
      d.overlay(ways.map((w) => ({ ...w, boxes: w.nodes.map((n) => at.get(n)).filter((i) => i !== undefined) })));
    },
  };
};

// legend explains lines and marks.
const legend = (p, ch) => {
  const sample = (name, kind, text) => el("li", null, svg("svg", { width: 30, height: 10, "aria-hidden": "true" }, svg("path", { class: kind, d: "M1,5H29" })), text);
  const words = Object.keys(WORDS).filter((w) => ch.rows.some((i) => marksOf(p, ch, i).includes(w)));
  return [el("ul", { class: "legend", "aria-label": "Lines" },
    el("li", null, "Arrows point to what follows:"),
    sample("replaces", "edge replaces", "replaces"), sample("skips", "edge skips", "skips"), sample("range", "edge skipRange", "in a skipRange"),
    p.impact.size ? sample("breaks", "edge replaces breaks", "breaks something in OLM v1") : null,
    sample("classic", "way classic", "path of classic OLM"), sample("v1", "way v1", "path of OLM v1")),
    words.length ? folded("What the marks mean", () => facts(words.map((w) => [mark(w), WORDS[w]]))) : null];
};

// channelTable is the drawing as a table.
const channelTable = (p, ch) => {
  const name = (i) => (i === undefined || i < 0 ? "" : p.nodes[i].label);
  const ranges = new Map((ch.ranges || []).map((r) => [r.node, r.text]));
  const below = (node, kind) => ch.edges.filter((e) => e[1] === node && EDGES[e[2]] === kind).map((e) => name(e[0])).join(", ");
  const next = (ways, node) => { const s = stepsOf(ways).get(node); return s && s[1] >= 0 ? [said(name(s[1])), verdictTag(p, node, s[1])] : "stays"; };
  return table(`Channel ${ch.name} of package ${p.name}`,
    ["Version", "Notes", "Replaces", "Skips", "skipRange", "Classic OLM goes to", "OLM v1 goes to"],
    ch.rows.map((node) => [
      said(p.nodes[node].label), marksOf(p, ch, node).map((w) => [mark(w), " "]), said(below(node, "replaces")), said(below(node, "skips")),
      said(ranges.get(node) || ""), next(ch.classic, node), next(ch.v1, node)]));
};
