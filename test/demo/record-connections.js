// Loaded into every process of a run (`NODE_OPTIONS=--import`): notes each outgoing TCP connection as `PID PORT`.
import { appendFileSync } from 'node:fs';
import { Socket } from 'node:net';

const file = process.env.RECORD_CONNECTIONS;
const { connect } = Socket.prototype;

Socket.prototype.connect = function record(...args) {
  this.once('connect', () => {
    if (file && this.remotePort) appendFileSync(file, `${process.pid} ${this.remotePort}\n`);
  });
  return connect.apply(this, args);
};
