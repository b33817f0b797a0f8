/**
 * Formats of sync events: the export blobs, the two payloads of a handshake, and the page that a
 * handle shares with the process of the CPU handle. Bytes in, values out; no memory is opened here,
 * nothing is looked up, and every decoded value is legal. Any thread.
 */
@NullMarked
package io.softdpu.core.sync.wire;

import org.jspecify.annotations.NullMarked;
