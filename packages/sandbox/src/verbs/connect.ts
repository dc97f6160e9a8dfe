import { refer } from "../refer.ts";
import type { Scene } from "../scene.ts";
import type { Verb } from "./verb.ts";

/** Things that are not made for a current have a free end of their own. */
const FREE_TERMINAL = "terminal 1";
/** Things that are, and so must be taken at a certain end. */
const ELECTRICAL = /(?:battery|wire|light bulb|switch|motor|buzzer|solar panel|generator|turbine)$/;

export const connectVerbs: readonly Verb[] = [
  {
    pattern: /^connect (.+?) (?:to|in|into) (.+)$/i,
    observe: (scene, [one = "", other = ""]) => {
      const from = readEnd(scene, one);
      const to = readEnd(scene, other);
      if (from === undefined || to === undefined) return undefined;
      if (from.terminal === undefined || to.terminal === undefined)
        return "Connections must specify specific points of contact on electrical components (e.g. anode, terminal 1)";
      if (from.name === to.name) return "Something can't be connected to itself.";
      return `${from.terminal} on ${from.name} is now connected to ${to.terminal} on ${to.name}`;
    },
  },
  {
    form: "disconnect _",
    pattern: /^disconnect (.+)$/i,
    perform: ({ name }) => `${name} has been disconnected`,
  },
];

/** "battery anode", "anode on battery" or "fork", once the world knows such a thing. */
function readEnd(scene: Scene, words: string): { name: string; terminal: string | undefined } | undefined {
  const behind = /^(.+) (anode|cathode|terminal \d)$/i.exec(words);
  const before = /^(anode|cathode|terminal \d) (?:on|of|in) (.+)$/i.exec(words);
  const [holder] = refer(scene, behind?.[1] ?? before?.[2] ?? words);
  if (holder === undefined) return undefined;
  const terminal = behind?.[2] ?? before?.[1];
  const isElectrical = ELECTRICAL.test(holder.name);
  return { name: holder.name, terminal: terminal ?? (isElectrical ? undefined : FREE_TERMINAL) };
}
