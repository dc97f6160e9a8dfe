/** One object of the world, divided into the parts that actions can change. */
export interface Thing {
  /** As the world calls it: "a fridge", "a substance called soap", "soil". */
  phrase: string;
  /** Names that an action may use, in lower case, the full name first. */
  names: readonly string[];
  /** The text after ", which is": "turned off", "deactivated". */
  status?: string;
  door?: Door;
  /** Absent if the thing is not a container, or if a closed door hides its contents. */
  contents?: Contents;
  /** Everything else in its description, verbatim. */
  remark: string;
}

export type Door = "open" | "closed";

export interface Contents {
  /** How the world introduces them: "(containing …)", ", with: …", "In the … is:", "On the … is:". */
  manner: "containing" | "with" | "In" | "On";
  things: Thing[];
}
