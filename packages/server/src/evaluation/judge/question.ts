import type { RungName } from "./response-formats.ts";

/** What a judge is asked, as prompts.ts words it. */
export interface Question {
  /** The system turn: the task and the criteria. */
  instructions: string;
  /** The user turn: what is judged, fenced. */
  material: string;
  /** The keys of the answer, in their order. */
  answerKeys: string;
}

/** Why the last answer was of no use. */
export type Complaint = "off_menu" | "unreadable";

export interface Turn {
  rung: RungName;
  /** Set when the question is asked again. */
  complaint?: Complaint;
}
