/** One object of the world, in the parts that an action can change. */
export interface Thing {
  /** As the world writes it: "a fridge", "a substance called soap", "soil". */
  phrase: string;
  /** What an action may call it, in small letters, the fullest proper name first. */
  names: readonly string[];
  /** What follows ", which is": "turned off", "deactivated". */
  status?: string;
  door?: Door;
  /** Absent when it holds nothing by nature, or when a closed door hides what is inside. */
  contents?: Contents;
  /** Whatever else the world says of it, word for word. */
  remark: string;
}

export type Door = "open" | "closed";

export interface Contents {
  /** How the world introduces them: "(containing …)", ", with: …", "In the … is:", "On the … is:". */
  manner: "containing" | "with" | "In" | "On";
  things: Thing[];
}
