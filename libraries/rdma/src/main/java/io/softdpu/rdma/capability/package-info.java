/**
 * Capability source of RDMA for the capability queries of core. Loaded by ServiceLoader only; the
 * values are those of {@link io.softdpu.rdma.RdmaCapabilities}. Stateless; any thread.
 */
@NullMarked
package io.softdpu.rdma.capability;

import org.jspecify.annotations.NullMarked;
