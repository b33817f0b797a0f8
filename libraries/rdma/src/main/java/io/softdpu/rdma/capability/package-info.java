/**
 * RDMA's part in the uniform capability queries of core. For ServiceLoader alone; it repeats what
 * {@link io.softdpu.rdma.RdmaCapabilities} tells. Holds no state; any thread.
 */
@NullMarked
package io.softdpu.rdma.capability;

import org.jspecify.annotations.NullMarked;
