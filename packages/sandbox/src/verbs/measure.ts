import type { Referent } from "../refer.ts";

/** Degrees Celsius of a room in which nothing has been heated or cooled, if no thermometer shows another. */
const ROOM_TEMPERATURE = "10";

/** Everything is as warm as the room: the sandbox has no model of heat, and does not make up a reading. */
export function measure({ thing }: Referent): string {
  const reading = /a temperature of (-?\d+)/.exec(thing.remark)?.[1] ?? ROOM_TEMPERATURE;
  return `the thermometer measures a temperature of ${reading} degrees celsius`;
}
