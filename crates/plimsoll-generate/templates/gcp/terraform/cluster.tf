# A service account for the nodes with the one role that they need, instead of the usual one that may edit the project.
resource "google_service_account" "nodes" {
  account_id   = "${var.name}-nodes"
  display_name = "plimsoll: nodes of the cluster"
}

resource "google_project_iam_member" "nodes" {
  project = var.project
  role    = "roles/container.defaultNodeServiceAccount"
  member  = google_service_account.nodes.member
}

# In one zone: a disk cannot follow a pod to another one.
# costs: the control plane, by the hour
resource "google_container_cluster" "cluster" {
  name                     = "${var.name}-cluster"
  location                 = var.zone
  network                  = google_compute_network.all.id
  subnetwork               = google_compute_subnetwork.all.id
  min_master_version       = local.kubernetes_version
  initial_node_count       = 1
  remove_default_node_pool = true
  deletion_protection      = false

  ip_allocation_policy {
  }

  addons_config {
    # What makes disks of the classes.
    gce_persistent_disk_csi_driver_config {
      enabled = true
    }
  }

  node_config {
    service_account = google_service_account.nodes.email
  }

  lifecycle {
    # Those of the pool that is removed at once.
    ignore_changes = [node_config]
  }
}

# costs: the nodes and their disks of the system
resource "google_container_node_pool" "nodes" {
  name       = "nodes"
  cluster    = google_container_cluster.cluster.id
  node_count = local.nodes

  node_config {
    machine_type    = local.node_type
    disk_type       = local.node_disk_type
    service_account = google_service_account.nodes.email
    oauth_scopes    = ["https://www.googleapis.com/auth/cloud-platform"]
  }
}

output "cluster" {
  description = "The name of the cluster"
  value       = google_container_cluster.cluster.name
}

output "zone" {
  description = "Where it is"
  value       = var.zone
}

output "project" {
  description = "Whose it is"
  value       = var.project
}
