// Placing nodes. Dagre knows sizes and edges, and nothing of operators.

// place returns centres for boxes and points for lines. Boxes have a width and a
// height, lines a from, a to, and perhaps the size of a label.
const place = (boxes, lines, direction, gaps) => {
  const g = new dagre.graphlib.Graph({ multigraph: true });
  g.setGraph({ rankdir: direction, nodesep: gaps.side, ranksep: gaps.rank, edgesep: 8, marginx: 0, marginy: 0, ranker: "tight-tree" });
  boxes.forEach((b, i) => g.setNode(String(i), { width: b.width, height: b.height }));
  lines.forEach((l, i) => {
    if (l.from === l.to) return;
    g.setEdge(String(l.from), String(l.to), { weight: l.weight || 1, minlen: 1, width: l.width || 0, height: l.height || 0, labelpos: "c" }, String(i));
  });
  dagre.layout(g);
  const at = boxes.map((_, i) => g.node(String(i)));
  const drawn = lines.map((l, i) => (l.from === l.to ? null : g.edge(String(l.from), String(l.to), String(i))));
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  boxes.forEach((b, i) => {
    box.left = Math.min(box.left, at[i].x - b.width / 2);
    box.right = Math.max(box.right, at[i].x + b.width / 2);
    box.top = Math.min(box.top, at[i].y - b.height / 2);
    box.bottom = Math.max(box.bottom, at[i].y + b.height / 2);
  });
  for (const line of drawn) {
    for (const q of line ? line.points : []) {
      box.left = Math.min(box.left, q.x);
      box.right = Math.max(box.right, q.x);
    }
  }
  if (!boxes.length) Object.assign(box, { left: 0, top: 0, right: 0, bottom: 0 });
  return { at, drawn, box };
};

// curve is a smooth line through points.
const curve = (points) => {
  if (points.length < 3) return "M" + points.map((q) => `${q.x},${q.y}`).join("L");
  let d = `M${points[0].x},${points[0].y}`;
  for (let i = 1; i < points.length - 1; i++) {
    const q = points[i], r = points[i + 1];
    const end = i === points.length - 2 ? r : { x: (q.x + r.x) / 2, y: (q.y + r.y) / 2 };
    d += `Q${q.x},${q.y} ${end.x},${end.y}`;
  }
  return d;
};

// Sizes of text, measured once for each font.
const ruler = document.createElement("canvas").getContext("2d");
const MONO = "12px ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace";
const SANS = "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
const widthOf = (text, font) => { ruler.font = font; return Math.ceil(ruler.measureText(text).width); };
