import { parseRooms, type Room } from "./room.ts";

/** The system turn's description of the world before the first action. */
export interface WorldMap {
  rooms: Map<string, Room>;
  /** Adjacent rooms by room. Rooms without a list or a doorway have no entry. */
  neighbours: Map<string, Set<string>>;
  /** Where the agent begins. */
  start: string | undefined;
}

const connectionPattern = /^- ([^\n:]{1,80}) connects to: ([^\n]+)$/gm;
const mapHeading = "[COMPLETE ROOM MAP]";

export function parseWorldMap(environment: string): WorldMap {
  const mapAt = Math.max(0, environment.indexOf(mapHeading));
  const rooms = new Map(parseRooms(environment.slice(mapAt)).map((room) => [room.name, room]));

  // The text before the map describes the agent's first room, more recently than the map.
  const start = parseRooms(environment.slice(0, mapAt))[0];
  if (start !== undefined) rooms.set(start.name, start);

  const neighbours = new Map<string, Set<string>>();
  for (const room of rooms.values()) {
    if (room.doors.length > 0) neighbours.set(room.name, new Set(room.doors.map(({ to }) => to)));
  }
  for (const [, name = "", list = ""] of environment.matchAll(connectionPattern)) {
    neighbours.set(name, new Set(list.split(", ")));
  }
  return { rooms, neighbours, start: start?.name ?? (rooms.size === 1 ? [...rooms.keys()][0] : undefined) };
}
