/** A server that speaks Redis's protocol and gives the answers that a test sets. */
export interface LyingRedis {
  url: string;
  /** The bytes that answer each command. */
  reply: string;
  /** Whether it answers as Redis does while a connection opens; true if absent. */
  opensWell?: boolean;
  /** The commands answered with `reply`, oldest first. */
  answered: string[];
  stop(): void;
}

const opening = new Set(["auth", "client", "hello", "select", "command", "ping"]);

export function startLyingRedis(): LyingRedis {
  const listener = Bun.listen<{ unread: string }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.data = { unread: "" };
      },
      data(socket, bytes) {
        const { commands, rest } = readCommands(socket.data.unread + bytes.toString("latin1"));
        socket.data.unread = rest;
        for (const name of commands) {
          const isHonest = redis.opensWell !== false;
          if (isHonest && opening.has(name)) socket.write("+OK\r\n");
          else if (isHonest && name === "info") socket.write("$9\r\nloading:0\r\n");
          else {
            redis.answered.push(name);
            socket.write(redis.reply);
          }
        }
      },
    },
  });
  const redis: LyingRedis = {
    url: `redis://127.0.0.1:${listener.port}`,
    reply: "$-1\r\n",
    answered: [],
    stop: () => listener.stop(true),
  };
  return redis;
}

/** The names of the complete commands in the bytes that have arrived. */
function readCommands(text: string): { commands: string[]; rest: string } {
  const commands: string[] = [];
  let rest = text;
  for (;;) {
    const words: string[] = [];
    let at = 0;
    const readLength = (mark: string): number | undefined => {
      const end = rest.indexOf("\r\n", at);
      if (end < 0 || rest[at] !== mark) return undefined;
      const length = Number(rest.slice(at + 1, end));
      at = end + 2;
      return length;
    };
    const count = readLength("*") ?? 0;
    while (words.length < count) {
      const length = readLength("$");
      if (length === undefined || rest.length < at + length + 2) return { commands, rest };
      words.push(rest.slice(at, at + length));
      at += length + 2;
    }
    if (words[0] === undefined) return { commands, rest };
    commands.push(words[0].toLowerCase());
    rest = rest.slice(at);
  }
}
