import { testKey } from "../presage/presage.ts";

/** A server's replies, read as OpenEnv's clients read them. */
export interface OpenEnvReply {
  type: "observation" | "state" | "error";
  data: {
    observation?: { prompt: string; truncated: boolean; metadata: { episode_id: string; step: number } };
    reward?: number | null;
    done?: boolean;
    metadata?: Record<string, unknown>;
    episode_id?: string | null;
    step_count?: number;
    code?: string;
    message?: string;
    [field: string]: unknown;
  };
}

export interface OpenEnvSocket {
  /** Sends a message, or a frame unchanged. */
  send(message: object | string | Uint8Array): void;
  /** The next unread reply; undefined once the socket is closed. */
  next(): Promise<OpenEnvReply | undefined>;
  /** Sends a message and reads the next reply, which must arrive. */
  ask(message: object | string | Uint8Array): Promise<OpenEnvReply>;
  reset(data?: object): Promise<OpenEnvReply>;
  step(message: string): Promise<OpenEnvReply>;
  /** Why the socket was closed. */
  closed: Promise<{ code: number; reason: string }>;
  close(): void;
  /** Cuts the connection without a closing frame. */
  cut(): void;
}

export const openEnvPath = (environment: string) => `/v1/environments/${environment}/openenv`;

/** Opens a WebSocket to an environment. */
export async function openEnvSocket(
  url: string,
  environment: string,
  headers: Record<string, string> = { "x-api-key": testKey },
): Promise<OpenEnvSocket> {
  const address = `${url.replace("http", "ws")}${openEnvPath(environment)}/ws`;
  const socket = new WebSocket(address, { headers });
  const replies: OpenEnvReply[] = [];
  const readers: ((reply: OpenEnvReply | undefined) => void)[] = [];
  let isClosed = false;
  const closed = Promise.withResolvers<{ code: number; reason: string }>();
  socket.onmessage = ({ data }) => {
    const reply = JSON.parse(String(data)) as OpenEnvReply;
    const reader = readers.shift();
    if (reader === undefined) replies.push(reply);
    else reader(reply);
  };
  socket.onclose = ({ code, reason }) => {
    isClosed = true;
    for (const reader of readers) reader(undefined);
    closed.resolve({ code, reason });
  };
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error("The WebSocket could not be opened."));
  });
  const send = (message: object | string | Uint8Array) =>
    socket.send(
      typeof message === "string" || message instanceof Uint8Array ? message : JSON.stringify(message),
    );
  const next = () => {
    const reply = replies.shift();
    if (reply !== undefined || isClosed) return Promise.resolve(reply);
    return new Promise<OpenEnvReply | undefined>((resolve) => readers.push(resolve));
  };
  async function ask(message: object | string | Uint8Array): Promise<OpenEnvReply> {
    send(message);
    const reply = await next();
    if (reply === undefined) throw new Error("The socket was closed without a reply.");
    return reply;
  }
  return {
    send,
    next,
    ask,
    reset: (data = {}) => ask({ type: "reset", data }),
    step: (message) => ask({ type: "step", data: { message } }),
    closed: closed.promise,
    close: () => socket.close(),
    cut: () => socket.terminate(),
  };
}

/** The id of the episode that a reply is about. */
export function episodeOf({ data }: OpenEnvReply): string {
  return data.observation?.metadata.episode_id ?? "";
}
