// Draws a part of the page as one SVG: its drawings unchanged, its texts in their places.

export interface Drawing {
  svg: string;
  width: number;
  height: number;
}

const namespace = "http://www.w3.org/2000/svg";
/** The margin around the drawing, in pixels. */
const margin = 8;
/** The properties of a shape that stylesheets set. */
const shapeStyles = [
  "fill",
  "fill-opacity",
  "opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linejoin",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
  "paint-order",
];

/** Draws an element: its SVGs, its texts and the lines between its rows. Buttons are left out. */
export function drawElement(element: HTMLElement): Drawing {
  const box = element.getBoundingClientRect();
  const [width, height] = [element.scrollWidth + 2 * margin, Math.ceil(box.height) + 2 * margin];
  const place = ({ left, top }: DOMRect) => [left - box.left + margin, top - box.top + margin] as const;
  const root = make("svg", { xmlns: namespace, width, height, viewBox: `0 0 ${width} ${height}` });
  root.append(make("rect", { width, height, fill: colorBehind(element) }));
  for (const row of element.querySelectorAll("tbody tr")) {
    const [x, y] = place(row.getBoundingClientRect());
    const stroke = getComputedStyle(row).borderTopColor;
    root.append(make("line", { x1: x, x2: x + row.clientWidth, y1: y, y2: y, stroke }));
  }
  for (const svg of element.querySelectorAll("svg")) {
    if (svg.closest("button") !== null || svg.parentElement?.closest("svg") != null) continue;
    const [x, y] = place(svg.getBoundingClientRect());
    const copy = withStyles(svg);
    copy.setAttribute("x", String(x));
    copy.setAttribute("y", String(y));
    copy.setAttribute("width", String(svg.clientWidth));
    copy.setAttribute("height", String(svg.clientHeight));
    copy.setAttribute("overflow", "visible");
    root.append(copy);
  }
  for (const { text, rect, parent } of textsOf(element)) {
    const [x, y] = place(rect);
    const { color, fontSize, fontWeight, fontFamily } = getComputedStyle(parent);
    const look = { fill: color, "font-size": fontSize, "font-weight": fontWeight, "font-family": fontFamily };
    const line = make("text", { x, y: y + rect.height / 2, dy: "0.35em", ...look });
    line.textContent = text;
    root.append(line);
  }
  return { svg: new XMLSerializer().serializeToString(root), width, height };
}

function make(name: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(namespace, name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, String(value));
  return made;
}

/** A copy that looks the same without the page's stylesheets. */
function withStyles(svg: SVGSVGElement): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const originals = [svg, ...svg.querySelectorAll("*")];
  for (const [index, one] of [copy, ...copy.querySelectorAll("*")].entries()) {
    const original = originals[index];
    if (original === undefined) continue;
    const style = getComputedStyle(original);
    for (const name of shapeStyles) one.setAttribute(name, style.getPropertyValue(name));
    one.removeAttribute("class");
  }
  return copy;
}

interface PlacedText {
  text: string;
  rect: DOMRect;
  parent: Element;
}

/** The visible texts, line by line; a text that is cut off has only what fits. */
function* textsOf(element: HTMLElement): Generator<PlacedText> {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const parent = node.parentElement;
    const isShape = parent?.closest("svg") != null;
    const isControl = parent?.closest("button") != null && parent.closest("th") === null;
    // Texts for screen readers only are a pixel wide.
    if (parent === null || isShape || isControl || parent.getBoundingClientRect().width <= 1) continue;
    for (const line of linesOf(node)) yield { ...line, parent };
  }
}

function* linesOf(node: Node): Generator<Omit<PlacedText, "parent">> {
  const range = document.createRange();
  let [text, current]: [string, DOMRect | undefined] = ["", undefined];
  for (const { index, 0: word } of (node.textContent ?? "").matchAll(/\S+\s*/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.trimEnd().length);
    const rect = range.getBoundingClientRect();
    if (current !== undefined && Math.abs(rect.top - current.top) > 2) {
      yield { text: cut(text, current, node), rect: current };
      [text, current] = ["", undefined];
    }
    text += word;
    current =
      current === undefined
        ? rect
        : new DOMRect(current.x, current.y, rect.right - current.x, current.height);
  }
  if (current !== undefined) yield { text: cut(text, current, node), rect: current };
}

/** Ends a text with an ellipsis if it does so on the page. */
function cut(text: string, rect: DOMRect, { parentElement }: Node): string {
  const frame = parentElement?.closest(".truncate")?.getBoundingClientRect();
  if (frame === undefined || rect.right <= frame.right + 1) return text.trimEnd();
  const share = Math.max(0, (frame.right - rect.left) / rect.width);
  return `${text.slice(0, Math.max(1, Math.floor(text.length * share) - 1))}…`;
}

/** The first background behind an element that is not transparent. */
function colorBehind(element: Element): string {
  for (let one: Element | null = element; one !== null; one = one.parentElement) {
    const { backgroundColor } = getComputedStyle(one);
    if (backgroundColor !== "rgba(0, 0, 0, 0)") return backgroundColor;
  }
  return "white";
}
