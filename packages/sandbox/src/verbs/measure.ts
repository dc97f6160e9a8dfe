import type { Referent } from "../refer.ts";

/** Degrees Celsius of a room in which nothing has been heated or cooled, unless a thermometer shows otherwise. */
const ROOM_TEMPERATURE = "10";

/** Everything has the room's temperature: the sandbox does not model heat and does not invent readings. */
export function measure({ thing }: Referent): string {
  const reading = /a temperature of (-?\d+)/.exec(thing.remark)?.[1] ?? ROOM_TEMPERATURE;
  return `the thermometer measures a temperature of ${reading} degrees celsius`;
}
