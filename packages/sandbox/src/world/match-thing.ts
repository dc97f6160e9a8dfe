import { listThings } from "./render-thing.ts";
import type { Thing } from "./thing.ts";

const containing = " containing ";

/** Whether a lower-case name is a name of this thing: "cup", or "cup containing red paint". */
export function answersTo({ names, contents }: Thing, name: string): boolean {
  if (names.includes(name)) return true;
  const split = name.indexOf(containing);
  if (split < 0 || contents === undefined || !names.includes(name.slice(0, split))) return false;
  return listThings(contents.things).toLowerCase() === name.slice(split + containing.length);
}

/** Whether a lower-case name is at least the end of its full name: "bee" for "adult bee". */
export function mayAnswerTo({ names }: Thing, name: string): boolean {
  return names[0]?.endsWith(` ${name}`) ?? false;
}

/** Furniture and machines stay where they are; the agent may carry everything else. */
export function isFixture({ door, status, contents }: Thing): boolean {
  const isFurniture = contents?.manner === "In" || contents?.manner === "On";
  return door !== undefined || isFurniture || (status?.startsWith("turned ") ?? false);
}

export function isSubstance({ phrase }: Thing): boolean {
  return /^an? substance called /.test(phrase);
}
