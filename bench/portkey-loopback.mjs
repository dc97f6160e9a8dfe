// Loaded into Portkey's process before its own code. Its start script takes a port but no host and would listen on every
// interface of the machine; nothing else about it is changed.
import { Server } from "node:net";

const { listen } = Server.prototype;
Server.prototype.listen = function listenOnLoopback(port, host, ...rest) {
  return listen.call(this, port, host ?? "127.0.0.1", ...rest);
};
