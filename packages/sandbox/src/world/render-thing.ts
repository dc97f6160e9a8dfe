import { withoutArticle } from "./name-thing.ts";
import type { Thing } from "./thing.ts";

/** Describes a thing as the world does; the reverse of `parseThing`. */
export function renderThing(thing: Thing): string {
  const { phrase, status, door, contents, remark } = thing;
  const name = withoutArticle(phrase);
  let text = phrase;
  if (status !== undefined) text += `, which is ${status}`;
  if (door !== undefined) text += `. The ${name} door is ${door}`;
  if (door === "closed") return `${text}.`;
  if (contents === undefined) return text + remark;
  const list = listThings(contents.things);
  switch (contents.manner) {
    case "containing":
      return `${text} (containing ${list})`;
    case "with":
      return contents.things.length === 0 ? text : `${text}, with: ${list}`;
    default:
      return `${text}. ${contents.manner} the ${name} is: ${list}.`;
  }
}

export function listThings(things: readonly Thing[]): string {
  return things.length === 0 ? "nothing" : things.map(renderThing).join(", ");
}

/** A line of a list. The world adds a space if the line ends with a sentence about a door or a switch. */
export function renderLine(thing: Thing): string {
  const text = renderThing(thing);
  return `\t${/(?:closed|activated)\.$/.test(text) ? `${text} ` : text}`;
}
