// Ways follow the tables of what comes next. The tables were made by olmkit;
// nothing is decided here.

// steps returns the table of a reading by node.
const stepsOf = (ways) => {
  if (!ways.map) ways.map = new Map(ways.steps.map((list) => [list[0], list]));
  return ways.map;
};

// following returns what can follow a node at once, the preferred first, as far
// as the page holds it.
const following = (ways, from) => {
  const list = stepsOf(ways).get(from) || [];
  const out = [];
  for (let i = 3; i < list.length; i += 2) out.push({ from, to: list[i], why: list[i + 1] });
  return out;
};

// howMany returns how many nodes can follow a node at once.
const howMany = (ways, from) => (stepsOf(ways).get(from) || [from, -1, 0])[2];

// walk goes from table to table until the node stays or comes back.
const walk = (ways, from) => {
  const out = { steps: [], end: from, loops: false };
  const seen = new Set();
  for (let at = from; ;) {
    seen.add(at);
    const list = stepsOf(ways).get(at);
    if (!list || list[1] < 0) break;
    out.steps.push(following(ways, at).find((s) => s.to === list[1]));
    at = out.end = list[1];
    if (seen.has(at)) { out.loops = true; break; }
  }
  out.heads = ways.heads;
  out.atHead = ways.heads.includes(out.end);
  out.detour = (ways.detours || []).find((d) => d[0] === from) || null;
  out.around = (ways.around || []).find((d) => d[0] === from) || null;
  out.blocked = (ways.blocked || []).find((d) => d[0] === from) || null;
  return out;
};

// told describes in a few words how a path ends.
const told = (p, w) => {
  const n = w.steps.length;
  if (w.loops) return `comes back to ${p.nodes[w.end].label} and loops forever`;
  if (w.atHead) return n ? `reaches the head in ${plural(n, "step")}` : "is at the head";
  const short = w.heads.length ? `short of the head ${w.heads.map((h) => p.nodes[h].label).join(", ")}` : "and there is no head";
  return (n ? `stops at ${p.nodes[w.end].label} after ${plural(n, "step")}, ${short}` : `stays where it is, ${short}`) +
    (w.detour ? "; the head can be reached step by step by hand" : "");
};

// same reports whether two ways take the same steps.
const same = (a, b) => a.steps.length === b.steps.length && a.steps.every((s, i) => s.to === b.steps[i].to);
