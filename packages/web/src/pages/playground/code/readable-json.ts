/** Control, direction and other characters that nobody sees, or that change how the text around them is shown. */
const unseen = /[\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** JSON in which every such character is written out: what a reader copies is what it seems to be. */
export function readableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    unseen,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
