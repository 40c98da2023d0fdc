# The resource below each "costs:" is paid for until it is destroyed. Written by plimsoll generate.

terraform {
  required_version = ">= 1.5"
  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 6.50"
    }
  }
}

# Who you are comes from gcloud auth application-default login: nothing of it stands here.
provider "google" {
  project        = var.project
  region         = var.region
  zone           = var.zone
  default_labels = local.labels
}

variable "project" {
  description = "The project"
  type        = string
  default     = "{{project}}"
}

variable "name" {
  description = "What everything is called by"
  type        = string
  default     = "{{name}}"
}

variable "region" {
  description = "The region; with another one goes another zone"
  type        = string
  default     = "{{region}}"
}

variable "zone" {
  description = "The zone that disks, the machine and nodes are in"
  type        = string
  default     = "{{zone}}"
}

# A network of its own.
resource "google_compute_network" "all" {
  name                    = var.name
  auto_create_subnetworks = false
}

resource "google_compute_subnetwork" "all" {
  name          = var.name
  region        = var.region
  network       = google_compute_network.all.id
  ip_cidr_range = "10.42.0.0/24"

  lifecycle {
    precondition {
      condition     = startswith(var.zone, var.region)
      error_message = "The zone ${var.zone} is in another region than ${var.region}: set TF_VAR_zone with TF_VAR_region."
    }
  }
}
