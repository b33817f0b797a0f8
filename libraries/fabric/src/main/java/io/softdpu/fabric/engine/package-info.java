/**
 * Services for the thread of an engine: it copies and counts, chooses its processor, and marks its
 * passes of progress for the checks of tests.
 *
 * <p><b>Threads.</b> Each call is about the calling thread, or an object of its engine; counters
 * may be read by any thread. <b>Ownership.</b> Nothing is held.
 *
 * <p><b>Trust.</b> Segments check the bounds of each copy. Nothing else here comes from a peer.
 */
@NullMarked
package io.softdpu.fabric.engine;

import org.jspecify.annotations.NullMarked;
