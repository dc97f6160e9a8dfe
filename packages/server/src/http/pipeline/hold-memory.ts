import { type Holder, reserveBytes, reserveBytesAnyway } from "../../limits/byte-budget.ts";

/**
 * A body is in memory several times while it is read: as bytes, as text, as the parsed value and as what is made of it, some of
 * it as garbage that has yet to be collected. Measured with one body of 16 MB: 100 MB, 170 MB where a text of ASCII has one
 * character that is not; with 40 at once, far less for each.
 */
const bytesPerBodyByte = 6;

/**
 * What is read from the store at once is there several times as well, until it is handed over: in the thread that reads, as
 * rows, as what the answer says twice, under old names and new.
 */
const bytesPerStoredByte = 8;

/** Counts what an answer reads at once, beside what is held. What the budget is too small for is let in alone. */
export function holdStored(holder: Holder, storedBytes: number): void {
  const { heldBytes, memory } = holder;
  reserveBytes(holder, Math.min(heldBytes + storedBytes * bytesPerStoredByte, memory.maxBytesOfOne));
}

/** Counts a request's body, as much of it as has arrived. */
export function holdBody(holder: Holder, bodyBytes: number): void {
  reserveBytes(holder, bodyBytes * bytesPerBodyByte);
}

/** Counts an answer, as what it is made of and as its bytes, in place of the request that it ends. */
export function holdAnswer(holder: Holder, answerBytes: number): void {
  reserveBytesAnyway(holder, 2 * answerBytes);
}

/** A body that now waits to be answered, in the one form in which it was sent on. */
export function holdSentBody(holder: Holder): void {
  reserveBytes(holder, holder.heldBytes / bytesPerBodyByte);
}

/** Of a text that is not all Latin-1, a character takes two bytes. */
const bytesPerCharacter = 2;
/** A result while it is written, beside its texts. */
const bytesPerResult = 1_000;
/** An answer that is written as it is taken: the piece under way, and what the connection has not sent yet. */
const bytesPerLongAnswer = 1_000_000;

export interface NewResults {
  /** How many are to be kept. */
  kept: number;
  /** Of the texts of all that are to be kept. */
  keptCharacters: number;
  isAnswerLong: boolean;
}

/**
 * Counts what is made of a body that has been read, in its place: its texts, and either results on their way to the store or the
 * answer that follows. It is asked for before the work, so that nothing is refused after it. Returns how to count the answer alone.
 */
export function holdResults(
  holder: Holder,
  { kept, keptCharacters, isAnswerLong }: NewResults,
): (isAnswerLong: boolean) => void {
  const bodyBytes = holder.heldBytes / bytesPerBodyByte;
  const textBytes = bodyBytes * bytesPerCharacter;
  // Long texts are kept as they were written once.
  const answerBytes = bodyBytes + bytesPerLongAnswer;
  const storeBytes = kept * bytesPerResult + keptCharacters * bytesPerCharacter;
  reserveBytes(holder, textBytes + Math.max(storeBytes, isAnswerLong ? answerBytes : 0));
  return (isLong) => reserveBytesAnyway(holder, textBytes + (isLong ? answerBytes : 0));
}
