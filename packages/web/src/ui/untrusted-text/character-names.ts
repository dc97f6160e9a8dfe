const controls =
  "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US";

/** What Unicode calls characters that have no look of their own, for short. */
export const characterNames: ReadonlyMap<string, string> = new Map([
  ...controls.split(" ").map((name, code): [string, string] => [String.fromCharCode(code), name]),
  ["\u007f", "DEL"],
  ["\u00ad", "SHY"],
  ["\u061c", "ALM"],
  ["\u200b", "ZWSP"],
  ["\u200c", "ZWNJ"],
  ["\u200d", "ZWJ"],
  ["\u200e", "LRM"],
  ["\u200f", "RLM"],
  ["\u2028", "LS"],
  ["\u2029", "PS"],
  ["\u202a", "LRE"],
  ["\u202b", "RLE"],
  ["\u202c", "PDF"],
  ["\u202d", "LRO"],
  ["\u202e", "RLO"],
  ["\u2060", "WJ"],
  ["\u2066", "LRI"],
  ["\u2067", "RLI"],
  ["\u2068", "FSI"],
  ["\u2069", "PDI"],
  ["\ufeff", "BOM"],
]);
