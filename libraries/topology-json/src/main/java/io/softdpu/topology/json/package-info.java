/**
 * Topologies as JSON files: {@link io.softdpu.topology.json.TopologyJson} reads and writes them and
 * has those that come along. A file that is wrong is refused with its name, the line, the field and
 * what was expected there. Holds no state; any thread.
 */
@NullMarked
package io.softdpu.topology.json;

import org.jspecify.annotations.NullMarked;
