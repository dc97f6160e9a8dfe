import { refer } from "../refer.ts";
import type { Scene } from "../scene.ts";
import type { Verb } from "./verb.ts";

/** Things that are not electrical have a free terminal. */
const freeTerminal = "terminal 1";
/** Electrical things, for which the terminal must be named. */
const electricalPattern = /(?:battery|wire|light bulb|switch|motor|buzzer|solar panel|generator|turbine)$/;

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

/** "battery anode", "anode on battery" or "fork", if the world has such a thing. */
function readEnd(scene: Scene, words: string): { name: string; terminal: string | undefined } | undefined {
  const after = /^(.+) (anode|cathode|terminal \d)$/i.exec(words);
  const before = /^(anode|cathode|terminal \d) (?:on|of|in) (.+)$/i.exec(words);
  const [holder] = refer(scene, after?.[1] ?? before?.[2] ?? words);
  if (holder === undefined) return undefined;
  const terminal = after?.[2] ?? before?.[1];
  const isElectrical = electricalPattern.test(holder.name);
  return { name: holder.name, terminal: terminal ?? (isElectrical ? undefined : freeTerminal) };
}
