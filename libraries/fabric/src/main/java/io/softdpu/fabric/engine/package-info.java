/**
 * Services for the thread of an engine: CPU affinity, permission to wait for other processes, and
 * marks of its passes of progress for the checks of tests.
 *
 * <p><b>Threads.</b> Each call affects the calling thread. <b>Ownership.</b> Nothing is held but
 * what denies a thread to wait, until it is lifted.
 *
 * <p><b>Trust.</b> Nothing here comes from a peer.
 */
@NullMarked
package io.softdpu.fabric.engine;

import org.jspecify.annotations.NullMarked;
