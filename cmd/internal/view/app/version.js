// What is known about a version, and its ways to the head.

// stepsTold lists steps; of many, the first and the last ones until asked.
const MANY = 9, ENDS = 3;
const stepsTold = (p, steps, pick) => {
  const item = (s, i) => el("li", { value: i + 1 },
    el("button", { type: "button", class: "link", onclick: () => pick(s.to) }, said(p.nodes[s.to].label)),
    " ", el("span", { class: "why" }, "(", said(p.reasons[s.why]), ")"), verdictTag(p, s.from, s.to));
  const all = steps.map(item);
  if (all.length <= MANY) return el("ol", null, all);
  const middle = all.slice(ENDS, -ENDS);
  const more = el("li", { class: "more" }, el("button", { type: "button", class: "link", onclick: () => { more.replaceWith(...middle); middle[0].querySelector("button").focus(); } }, `${middle.length} more steps`));
  return el("ol", null, all.slice(0, ENDS), more, all.slice(-ENDS));
};

// aroundTold shows the way around upgrades to avoid, or what blocks every path.
const aroundTold = (p, w) => {
  const name = (i) => p.nodes[i].label;
  if (w.around) return el("p", { class: "around" }, said(`Without ${p.avoids}: ${w.around.map(name).join(" → ")}`));
  if (!w.blocked) return null;
  const steps = [];
  for (let i = 1; i < w.blocked.length; i += 2) steps.push([w.blocked[i], w.blocked[i + 1]]);
  return el("div", { class: "around" }, el("p", { class: "short" }, said(`No path leads to the head without ${p.avoids}. Each takes at least one of these, and may take more like them:`)),
    el("ul", { class: "plain" }, steps.map(([a, b]) => el("li", null, said(`${name(a)} → ${name(b)}`), verdictTag(p, a, b)))));
};

const wayOf = (p, w, pick, before) => el("section", { class: "way-told " + w.kind },
  el("h3", null, svg("svg", { width: 30, height: 10, "aria-hidden": "true" }, svg("path", { class: "way " + w.kind, d: "M1,5H29" })), el("span", null, w.title)),
  el("p", { class: w.walk.atHead ? "good" : "short" }, said(told(p, w.walk)), before && w.walk.steps.length ? ", by the same path" : null),
  before ? null : [
    w.walk.steps.length ? stepsTold(p, w.walk.steps, pick) : null,
    w.walk.detour && !w.walk.atHead ? el("p", null, "By hand: ", said(w.walk.detour.map((i) => p.nodes[i].label).join(" → "))) : null],
  before && w.walk.steps.length ? null : aroundTold(p, w.walk));

const followers = (p, title, ways, node, pick) => {
  const all = following(ways, node), rest = howMany(ways, node) - all.length;
  return el("div", null, el("h4", null, title), all.length ? el("ul", { class: "plain" }, all.map((s) => el("li", null,
    el("button", { type: "button", class: "link", onclick: () => pick(s.to) }, said(p.nodes[s.to].label)), " ", el("span", { class: "why" }, "(", said(p.reasons[s.why]), ")"), verdictTag(p, s.from, s.to))), rest ? el("li", { class: "why" }, `and ${rest} more`) : null)
    : el("p", { class: "why" }, "nothing"));
};

// waysFrom returns the ways from a version: of OLM and of OLM v1 in the channel,
// and of OLM v1 in all channels where that differs.
const waysFrom = (p, ch, node) => {
  const out = [{ kind: "classic", title: ["Classic OLM, channel ", said(ch.name)], walk: walk(ch.classic, node) },
    { kind: "v1", title: ["OLM v1, channel ", said(ch.name)], walk: walk(ch.v1, node) }];
  if (p.all) {
    const all = walk(p.all, node);
    if (!same(all, out[1].walk) || all.atHead !== out[1].walk.atHead) out.push({ kind: "v1", title: "OLM v1, all channels", walk: all, aside: true });
  }
  return out;
};

const facts = (pairs) => el("dl", null, pairs.filter(Boolean).map(([k, v]) => [el("dt", null, k), el("dd", null, v)]));
const items = (list) => (list.length === 1 ? said(list[0]) : el("ul", { class: "plain" }, list.map((x) => el("li", null, said(x)))));

// versionPanel shows a version.
const versionPanel = (p, ch, node, pick) => {
  const n = p.nodes[node], ways = waysFrom(p, ch, node);
  const inChannels = p.channels.filter((c) => c.rows.includes(node)).map((c) => c.name);
  return [
    el("header", null,
      el("h2", { id: "version", tabindex: "-1" }, said(n.label)),
      el("p", { class: "tags" }, marksOf(p, ch, node).map((w) => [mark(w), " "]), ch.rows.includes(node) ? null : tag("not in this channel", "aside"))),
    n.deprecated ? el("p", { class: "note" }, "Deprecated: ", said(n.deprecated)) : null,
    n.fault ? el("p", { class: "note" }, "Cannot be chosen: ", said(n.fault)) : null,
    el("h3", { class: "lead" }, "If it is installed"),
    ways.map((w, i) => wayOf(p, w, pick, i > 0 && same(w.walk, ways[i - 1].walk))),
    folded("Everything that can follow at once", () => [followers(p, "Classic OLM", ch.classic, node, pick), followers(p, "OLM v1", ch.v1, node, pick)]),
    facts([
      ["bundle", said(n.name)],
      n.title ? ["display name", said(n.title)] : null,
      n.summary ? ["description", said(n.summary)] : null,
      n.version ? ["version", said(n.version)] : null,
      inChannels.length ? ["channels", said(inChannels.join(", "))] : null,
      n.apis !== undefined ? ["provides", items(p.sets[n.apis].map((i) => p.apis[i]))] : null,
      n.needs ? ["requires", items(n.needs.map((i) => p.needs[i]))] : null,
      n.image ? ["image", said(n.image, { class: "long" })] : null,
    ]),
  ];
};
