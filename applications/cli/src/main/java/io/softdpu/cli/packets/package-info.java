/**
 * Display of captures for {@code softdpu packets}: a line per packet, lines per connection, and the
 * results as JSON. No side effects except in {@link io.softdpu.cli.packets.CaptureFile}, which
 * reads a file.
 *
 * <p>Thread rule: all objects belong to one thread.
 */
@NullMarked
package io.softdpu.cli.packets;

import org.jspecify.annotations.NullMarked;
