import { parseThing, splitOneLine } from "./parse-thing.ts";
import { renderLine, type Thing, withoutArticle } from "./thing.ts";

export interface Room {
  name: string;
  /** The sentence before the list: "This room is called the attic. In it, you see:" */
  opening: string;
  things: Thing[];
  doors: Doorway[];
}

interface Doorway {
  to: string;
  isOpen: boolean;
}

const openingPattern = /This [a-z ]{1,40} is called (?:the )?([^.\n]{1,80})\. [A-Z][^:\n]{1,60}:/g;
const doorwayPattern = /A door to (?:the )?([^()\n]{1,80}) \(that is (open|closed)\)/g;
const doorsOpening = "You also see:";
const agent = "the agent";

/** Finds every room that a text describes, in one line or as a list with a tab before each thing. */
export function parseRooms(text: string): Room[] {
  const openings = [...text.matchAll(openingPattern)];
  return openings.map((opening, index) => {
    const start = opening.index + opening[0].length;
    const body = text.slice(start, openings[index + 1]?.index);
    return parseRoom(opening[1] ?? "", opening[0], body.trimStart(), /^ ?\n\t/.test(body));
  });
}

function parseRoom(name: string, opening: string, body: string, isList: boolean): Room {
  const doorsAt = body.indexOf(doorsOpening);
  const seen = doorsAt < 0 ? body : body.slice(0, doorsAt);
  const descriptions = isList
    ? seen.split("\n\t").map((line) => line.split("\n", 1)[0] ?? "")
    : splitOneLine(seen.split("\n\n", 1)[0] ?? "");
  return {
    name,
    opening,
    things: descriptions
      .map((description) => parseThing(description.trim()))
      .filter(({ phrase }) => phrase !== "" && phrase !== agent),
    doors: doorsAt < 0 ? [] : parseDoorways(body.slice(doorsAt)),
  };
}

function parseDoorways(text: string): Doorway[] {
  return [...text.matchAll(doorwayPattern)].map((door) => ({
    to: door[1] ?? "",
    isOpen: door[2] === "open",
  }));
}

/** The observation of an agent that looks around in the room. */
export function renderRoom({ opening, things, doors }: Room): string {
  const lines = things.map(renderLine);
  lines.splice(placeInOrder(things, agent), 0, `\t${agent}`);
  const doorLines = doors.map(
    ({ to, isOpen }) => `\tA door to the ${to} (that is ${isOpen ? "open" : "closed"})`,
  );
  if (doorLines.length > 0) doorLines.unshift(doorsOpening);
  return [`${opening} `, ...lines, ...doorLines].join("\n");
}

/** The index at which to insert a thing: the world lists things by name. */
export function placeInOrder(things: readonly Thing[], phrase: string): number {
  const name = withoutArticle(phrase);
  const place = things.findIndex((thing) => withoutArticle(thing.phrase) > name);
  return place < 0 ? things.length : place;
}

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
