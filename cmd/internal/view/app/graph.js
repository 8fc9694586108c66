// A drawing that can be panned and zoomed with the mouse and with keys.

let drawings = 0;

// One drawing is shown at a time. Before a print it shows everything; those that
// were shown earlier are not kept for that.
const printing = { fit: null };
window.addEventListener("beforeprint", () => printing.fit?.());
const LINE = 46; // characters of a text at a line

// draw makes a drawing of boxes and lines that were placed. options: label, hint,
// onpick(i), onclear(), home (the box to begin at), leftmost (begin at the left, and
// nothing is ever chosen).
//
// A box has a width, a height, a name for the screen reader, a class, and draws
// itself into its group. A line has a class and perhaps a text.
const draw = (boxes, lines, placed, options) => {
  const id = "drawing" + ++drawings;
  const arrow = (name) => svg("marker", { id: id + name, class: "arrow " + name, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse", markerUnits: "userSpaceOnUse" }, svg("path", { d: "M0,0L8,4L0,8z" }));
  const edges = svg("g", { class: "edges", "aria-hidden": "true" });
  const ways = svg("g", { class: "ways", "aria-hidden": "true" });
  const nodes = svg("g", { class: "nodes" });
  const world = svg("g", null, edges, nodes, ways);
  const picture = svg("svg", { class: "drawing", role: "group", "aria-label": options.label, "aria-describedby": id + "hint" },
    svg("defs", null, ["plain", "classic", "v1"].map(arrow)), world);

  lines.forEach((line, i) => {
    const shape = placed.drawn[i];
    if (!shape) return;
    edges.append(svg("path", { class: "edge " + line.kind, d: curve(shape.points), "marker-end": `url(#${id}plain)` }));
    if (line.text) {
      edges.append(svg("text", { class: "edge-text", x: shape.x, y: shape.y }, cut(line.text, LINE), svg("title", null, line.text)));
    }
  });

  const groups = boxes.map((box, i) => {
    const q = placed.at[i];
    const g = svg("g", { class: "node " + (box.kind || ""), transform: `translate(${q.x - box.width / 2},${q.y - box.height / 2})`, role: box.plain ? "img" : "button", tabindex: "-1", "aria-label": box.name, "aria-pressed": box.plain || options.leftmost ? null : "false" },
      svg("title", null, box.name),
      svg("rect", { class: "halo", x: -3, y: -3, width: box.width + 6, height: box.height + 6, rx: 7 }),
      svg("rect", { class: "box", width: box.width, height: box.height, rx: 4 }));
    box.draw(g);
    g.addEventListener("click", () => { rove(i, false); if (!box.plain) options.onpick(i); });
    g.addEventListener("focus", () => { rove(i, false); if (g.matches(":focus-visible")) reveal(i); });
    nodes.append(g);
    return g;
  });

  // Exactly one node can be reached with the tab key.
  let current = -1;
  const rove = (i, focus) => {
    if (current >= 0) groups[current].setAttribute("tabindex", "-1");
    current = i;
    groups[i].setAttribute("tabindex", "0");
    if (focus) groups[i].focus({ preventScroll: true });
  };
  if (boxes.length) rove(options.home || 0, false);

  const zoom = d3.zoom().scaleExtent([0.1, 3])
    .filter((e) => (e.type === "wheel" ? e.ctrlKey || e.metaKey : !e.button && e.type !== "dblclick" && !(e.type === "touchstart" && e.touches.length < 2)))
    .on("zoom", (e) => world.setAttribute("transform", e.transform));
  const view = d3.select(picture).call(zoom);
  picture.addEventListener("wheel", (e) => {
    if (e.ctrlKey || e.metaKey) return;
    const before = d3.zoomTransform(picture);
    const x = e.shiftKey && !e.deltaX ? e.deltaY : e.deltaX, y = e.shiftKey && !e.deltaX ? 0 : e.deltaY;
    const size = picture.getBoundingClientRect(), b = placed.box;
    const low = before.applyY(b.bottom) > size.height, high = before.applyY(b.top) < 0;
    if ((y > 0 && !low || y < 0 && !high) && !x) return; // the page scrolls on
    e.preventDefault();
    view.call(zoom.translateBy, -x / before.k, -y / before.k);
  }, { passive: false });

  // Two fingers are the drawing's from the beginning; a gesture that the browser
  // took for scrolling stays the browser's.
  picture.addEventListener("touchstart", (e) => { if (e.touches.length > 1 && e.cancelable) e.preventDefault(); }, { passive: false });
  picture.addEventListener("touchmove", (e) => { if (!e.cancelable) e.stopImmediatePropagation(); }, { capture: true, passive: true });

  const PAD = 28, ARC = 64;
  const span = () => ({ width: placed.box.right - placed.box.left, height: placed.box.bottom - placed.box.top });
  const size = () => ({ width: picture.clientWidth || 600, height: picture.clientHeight || 400 });
  // fit shows everything.
  const fit = () => {
    const s = span(), z = size();
    const k = Math.min(1, (z.width - 2 * ARC) / Math.max(1, s.width), (z.height - 2 * PAD) / Math.max(1, s.height));
    view.call(zoom.transform, d3.zoomIdentity
      .translate(z.width / 2 - k * (placed.box.left + s.width / 2), Math.max(PAD, z.height / 2 - k * s.height / 2) - k * placed.box.top).scale(Math.max(0.1, k)));
  };
  // begin shows everything where that stays legible, or else the home box and
  // what is around it.
  const begin = () => {
    const s = span(), z = size();
    const k = Math.min((z.width - 2 * ARC) / Math.max(1, s.width), (z.height - 2 * PAD) / Math.max(1, s.height));
    if (k >= 0.72 || !boxes.length) return fit();
    const q = placed.at[options.home || 0];
    const wide = Math.max(0.72, Math.min(1, (z.width - 2 * ARC) / Math.max(1, s.width)));
    const fits = wide * s.width <= z.width - 2 * PAD;
    // Where the whole does not fit, no space is left empty next to it.
    const left = PAD - wide * placed.box.left, right = z.width - PAD - wide * placed.box.right;
    const x = fits ? z.width / 2 - wide * (placed.box.left + s.width / 2)
      : options.leftmost ? left : Math.min(left, Math.max(right, z.width / 2 - wide * q.x));
    view.call(zoom.transform, d3.zoomIdentity.translate(x, PAD - wide * placed.box.top).scale(wide));
  };
  // reveal moves a box into view.
  const reveal = (i) => {
    const t = d3.zoomTransform(picture), z = size(), q = placed.at[i], box = boxes[i];
    const [x, y] = t.apply([q.x, q.y]);
    const halfX = t.k * box.width / 2 + PAD, halfY = t.k * box.height / 2 + PAD;
    const dx = x < halfX ? halfX - x : Math.min(0, z.width - halfX - x);
    const dy = y < halfY ? halfY - y : Math.min(0, z.height - halfY - y);
    if (dx || dy) view.call(zoom.translateBy, dx / t.k, dy / t.k);
  };

  // toward returns the nearest box in a direction.
  const toward = (dx, dy) => {
    const q = placed.at[current];
    let best = -1, least = Infinity;
    placed.at.forEach((r, i) => {
      if (i === current) return;
      const along = (r.x - q.x) * dx + (r.y - q.y) * dy;
      const aside = Math.abs((r.x - q.x) * dy) + Math.abs((r.y - q.y) * dx);
      if (along < 2 || aside > 4 * along && aside > 60 && dx) return;
      const cost = along + 2 * aside;
      if (cost < least) { least = cost; best = i; }
    });
    return best;
  };
  const keys = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
  picture.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || current < 0) return;
    let to = current;
    switch (e.key) {
      case "ArrowUp": case "ArrowDown": case "ArrowLeft": case "ArrowRight": to = toward(...keys[e.key]); break;
      case "Home": to = options.home || 0; break;
      case "End": to = placed.at.reduce((low, q, i) => (q.y > placed.at[low].y ? i : low), 0); break;
      case "Enter": case " ": if (!boxes[current].plain) options.onpick(current); break;
      case "Escape": options.onclear(); break;
      case "+": case "=": zoomIn(); break;
      case "-": zoomOut(); break;
      case "0": fit(); break;
      default: return;
    }
    e.preventDefault();
    if (to >= 0 && to !== current) rove(to, true);
  });

  const zoomIn = () => view.call(zoom.scaleBy, 1.3);
  const zoomOut = () => view.call(zoom.scaleBy, 1 / 1.3);
  const button = (text, name, act) => el("button", { type: "button", title: name, "aria-label": name, onclick: act }, text);
  const hint = el("p", { id: id + "hint", class: "hint" }, options.hint);
  const element = el("div", { class: "picture" },
    picture,
    el("div", { class: "zoom", role: "group", "aria-label": "Zoom" }, button("+", "Zoom in", zoomIn), button("−", "Zoom out", zoomOut), button("fit", "Show all", fit)),
    hint);
  printing.fit = fit;

  return {
    element, groups, begin, fit, reveal,
    height: span().height + 2 * PAD,
    // pick marks boxes as chosen.
    pick: (chosen) => groups.forEach((g, i) => g.setAttribute("aria-pressed", chosen === i ? "true" : "false")),
    // overlay draws ways next to the boxes: each has a kind, a side (-1 left, 1
    // right) and a list of boxes.
    overlay: (list) => {
      clear(ways);
      groups.forEach((g) => g.classList.remove("on-classic", "on-v1"));
      for (const way of list) {
        for (let n = 0; n + 1 < way.boxes.length; n++) {
          const i = way.boxes[n], j = way.boxes[n + 1];
          const a = placed.at[i], b = placed.at[j];
          const x1 = a.x + way.side * (boxes[i].width / 2 + 2), x2 = b.x + way.side * (boxes[j].width / 2 + 2);
          const bulge = way.side * Math.min(ARC, 14 + Math.abs(b.y - a.y) / 7);
          const lift = Math.sign(a.y - b.y) * Math.min(5, boxes[i].height / 4);
          // Boxes between the two are passed at their side, as far as that is near.
          let edge = way.side < 0 ? Math.min(x1, x2) : Math.max(x1, x2);
          const near = edge + way.side * 120, top = Math.min(a.y, b.y), low = Math.max(a.y, b.y);
          placed.at.forEach((q, k) => {
            const side = q.x + way.side * boxes[k].width / 2;
            if (q.y > top && q.y < low && way.side * side < way.side * near) edge = way.side * Math.max(way.side * edge, way.side * side);
          });
          ways.append(svg("path", { class: "way " + way.kind, d: `M${x1},${a.y - lift}C${edge + bulge},${a.y - lift} ${edge + bulge},${b.y + lift} ${x2},${b.y + lift}`, "marker-end": `url(#${id}${way.kind})` }));
        }
        for (const i of way.boxes) groups[i].classList.add("on-" + way.kind);
      }
    },
    rove,
  };
};
