/** A JSON list inside an object, in texts that follow each other, one for each piece of items. */
export async function* listTexts<Item>(
  name: string,
  pieces: AsyncIterable<readonly Item[]>,
  toJson: (item: Item) => string,
): AsyncGenerator<string, void> {
  let before = `{${JSON.stringify(name)}:[`;
  for await (const piece of pieces) {
    if (piece.length === 0) continue;
    yield before + piece.map(toJson).join(",");
    before = ",";
  }
  yield before === "," ? "]}" : `${before}]}`;
}
