/**
 * Provider of devices that fail on demand: {@code fault:OPTIONS:URI} opens another device and
 * injects errors, delays and damage into the requests to it, the same for the same seed and order
 * of requests. {@code FaultProvider} is where to start; a {@code FaultDevice} injects faults into
 * single requests, a {@code VolatileDevice} is a cache that loses what was not flushed.
 *
 * <p><b>Thread.</b> A provider and its devices are for any thread. A channel belongs to the thread
 * of its engine.
 *
 * <p><b>Ownership.</b> Each device owns the one that it wraps. A request without a fault goes on to
 * the channel below as it is, and costs no allocation.
 */
@NullMarked
package io.softdpu.block.fault;

import org.jspecify.annotations.NullMarked;
