/**
 * Services for the thread of an engine: it chooses its processor, and marks its passes of progress
 * for the checks of tests.
 *
 * <p><b>Threads.</b> Each call is about the calling thread. <b>Ownership.</b> Nothing is held.
 *
 * <p><b>Trust.</b> Nothing here comes from a peer.
 */
@NullMarked
package io.softdpu.fabric.engine;

import org.jspecify.annotations.NullMarked;
