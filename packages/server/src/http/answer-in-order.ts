import { ClientDisconnectedError, ServiceError } from "../platform/errors.ts";
import { itemOfTurn } from "../platform/limits/turns.ts";
import type { StoppableSocket } from "./open-sockets.ts";
import { closeCode, type Socket, type SocketEvents } from "./socket.ts";

/** What a client may send ahead while a message is being answered. */
const maxWaiting = 64;
const maxWaitingLength = 256 * 1024;

/** What to do after a message. */
export interface Reply {
  text?: string;
  close?: { code: number; reason: string };
  /** Called once the client has read the text, or has gone. */
  onRead?: () => void;
}

export interface AnswerOptions {
  /** Answers a message. The signal is aborted when the client disconnects or the server cannot wait any longer. */
  answer(message: string | Buffer, signal: AbortSignal): Promise<Reply>;
  /** A socket is closed on which nothing was sent or answered for this long. */
  idleMs: number;
  onOpen?(): Reply | undefined;
  onClose(): void;
}

/**
 * Answers the messages of one socket, one after the other and in their order. The next one is taken up only after the client has read
 * the answer to the last, so a socket holds one message, one answer and a bounded number of messages that wait.
 */
export function answerInOrder({
  answer,
  idleMs,
  onOpen,
  onClose,
}: AnswerOptions): SocketEvents & StoppableSocket {
  let socket: Socket | undefined;
  let waiting: (string | Buffer)[] = [];
  let waitingLength = 0;
  let current: AbortController | undefined;
  let isStopping = false;
  let onDrained: (() => void) | undefined;
  const idle = setTimeout(() => {
    // A client that does not read would not read why, either.
    if (onDrained !== undefined) socket?.terminate();
    else close({ code: closeCode.normal, reason: `Nothing happened for ${idleMs / 60_000} minutes.` });
  }, idleMs);

  function close({ code, reason }: { code: number; reason: string }): void {
    socket?.close(code, reason);
  }

  function closeForStop(): void {
    close({ code: closeCode.goingAway, reason: "The server is stopping." });
  }

  async function work(): Promise<void> {
    for (let message = take(); message !== undefined; message = take()) {
      const controller = new AbortController();
      current = controller;
      const turn = itemOfTurn();
      if (turn !== undefined) await turn;
      await finish(await answer(message, controller.signal));
      idle.refresh();
    }
    current = undefined;
    if (isStopping) closeForStop();
  }

  function take(): string | Buffer | undefined {
    if (socket === undefined || isStopping) return undefined;
    const message = waiting.shift();
    waitingLength -= message?.length ?? 0;
    return message;
  }

  async function finish({ text, close: closing, onRead }: Reply): Promise<void> {
    if (text !== undefined) await send(text);
    if (closing !== undefined) close(closing);
    onRead?.();
  }

  /** Returns when the client has read it, or is gone. */
  async function send(text: string): Promise<void> {
    const sent = socket?.sendText(text);
    if (sent === 0) socket?.terminate();
    if (sent !== -1) return;
    const drained = Promise.withResolvers<void>();
    onDrained = drained.resolve;
    await drained.promise;
    onDrained = undefined;
  }

  return {
    opened(opened) {
      socket = opened;
      const greeting = onOpen?.();
      if (greeting !== undefined) void finish(greeting);
      else if (isStopping) closeForStop();
    },
    received(message) {
      idle.refresh();
      waiting.push(message);
      waitingLength += message.length;
      if (current === undefined) {
        void work();
        return;
      }
      if (waiting.length <= maxWaiting && waitingLength <= maxWaitingLength) return;
      close({ code: closeCode.refused, reason: "Too many messages at once: wait for the answers." });
    },
    drained() {
      onDrained?.();
    },
    closed() {
      socket = undefined;
      waiting = [];
      clearTimeout(idle);
      current?.abort(new ClientDisconnectedError());
      onDrained?.();
      onClose();
    },
    stop() {
      isStopping = true;
      if (current === undefined) closeForStop();
    },
    abort() {
      if (onDrained !== undefined) socket?.terminate();
      current?.abort(new ServiceError("overloaded", "The server is stopping. Connect and try again."));
    },
  };
}
